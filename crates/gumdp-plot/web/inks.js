// @ts-check
// Written by scripts/studio from src/theme.rs, where colours are defined.
/** The colours of both themes. */
export const INKS = {
  light: { ink: "#1b1b1f", muted: "#5b616b", grid: "#e2e5ea", paper: "#ffffff", floor: "#f4f5f7", wall: "#5b616b", a: "#0072b2", b: "#b84f00", mark: "#00734f", bad: "#b00020" },
  dark: { ink: "#ececf1", muted: "#a4abb6", grid: "#3a3f47", paper: "#1a1c20", floor: "#111316", wall: "#7d8590", a: "#56b4e9", b: "#e69f00", mark: "#2fc79a", bad: "#ff8a95" },
};
