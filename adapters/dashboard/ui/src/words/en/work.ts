export const work = {
  issueStates: {
    queued: "Queued",
    assigned: "Assigned",
    running: "Running",
    review: "In review",
    handoff: "Handed off",
    done: "Done",
    failed: "Failed",
    cancelled: "Cancelled",
  },
}
