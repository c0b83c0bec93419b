const shutdownReasons: ReadonlySet<string> = new Set([
  'MUT_AGENT_STOPPED', 'MUT_ALLOCATION_ENDED', 'MUT_DRAINING', 'MUT_MACHINE_LEFT', 'MUT_MACHINE_MOVED', 'MUT_MACHINE_QUARANTINED', 'MUT_RELEASED',
]);

/**
 * Whether a replica ended because somebody took its machine away: a preemption, a cancelled allocation, a host that was shut down, a provider that drains.
 *
 * That says nothing about the task, and nothing about the health of the machine. A walltime is not among them: a task that is longer than every walltime must
 * not run for ever. Nor is a machine that went away without a word, which may be what the task did to it.
 */
export function isShutdown(reason: string): boolean {
  return shutdownReasons.has(reason);
}

/** Whether an ending counts towards the losses after which a task is given up: a shutdown or a preemption never does. */
export function isCountedLoss({ fate, reason }: { readonly fate: string; readonly reason: string }): boolean {
  return fate === 'lost' && !isShutdown(reason);
}
