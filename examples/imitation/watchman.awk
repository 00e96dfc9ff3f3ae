# Writes watchman.csv: awk -f watchman.awk > watchman.csv
# Six nights of 24 steps. A round is gate, hall, lift, lab, roof, lab, lift, hall; where he waits, and how long, differs from night to night.
function step(state, action) { if (time < 24) print night "," time++ "," state "," action }
function wait(state, times) { while (times-- > 0) step(state, "stay") }
BEGIN {
  print "episode,time,state,action"
  for (night = 1; night <= 6; night++) {
    time = 0
    while (time < 24) {
      wait("gate", night % 3); step("gate", "on")
      step("hall", "lift")
      wait("lab", 1 + night % 2); step("lab", "on")
      wait("roof", (night + 1) % 2); step("roof", "on")
      step("lab", "lift")
      wait("hall", night % 2); step("hall", "on")
    }
  }
}
