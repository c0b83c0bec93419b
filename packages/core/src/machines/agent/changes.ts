/** An agent promises nothing that outlives it, so it has no changes to journal. */
export type AgentChange = never;
