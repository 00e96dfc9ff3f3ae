//! The dotted name of a value, such as `legend."~".stuck` or `experiment.beta[1]`: looked up only when an error is reported.

use toml::de::{DeTable, DeValue};

use super::document::shortened;

/// Appends the rest of the name of `wanted` and returns true if it is in this table.
pub(super) fn find_in_table(table: &DeTable, wanted: &DeValue, name: &mut String) -> bool {
    search_table(table, &|value| std::ptr::eq(value, wanted), name)
}

pub(super) fn find_table(table: &DeTable, wanted: &DeTable, name: &mut String) -> bool {
    search_table(table, &|value| value.as_table().is_some_and(|table| std::ptr::eq(table, wanted)), name)
}

fn search_table(table: &DeTable, is_wanted: &dyn Fn(&DeValue) -> bool, name: &mut String) -> bool {
    table.iter().any(|(key, value)| {
        let separator = if name.is_empty() { "" } else { "." };
        let key = key.get_ref();
        // A character of a map stands for itself.
        let bare = name != "legend" && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        let part = if bare { shortened(key) } else { format!("\"{}\"", shortened(key)) };
        search_value(value.get_ref(), &format!("{separator}{part}"), is_wanted, name)
    })
}

fn search_value(value: &DeValue, part: &str, is_wanted: &dyn Fn(&DeValue) -> bool, name: &mut String) -> bool {
    let length = name.len();
    name.push_str(part);
    let found = is_wanted(value)
        || match value {
            DeValue::Table(table) => search_table(table, is_wanted, name),
            DeValue::Array(array) => array
                .iter()
                .enumerate()
                .any(|(index, item)| search_value(item.get_ref(), &format!("[{index}]"), is_wanted, name)),
            _ => false,
        };
    if !found {
        name.truncate(length);
    }
    found
}
