/** Pixels of the box of a task, at zoom 1. */
export const nodeWidth = 168;
export const nodeHeight = 52;
