import type { Instant } from '@mutirao/core/shared';

/** What happens to processes, beside what they do themselves. */
export type WorldEventKind =
  | 'ProcessStarted'
  | 'ProcessEnded'
  | 'ProcessCrashed'
  | 'ProcessPaused'
  | 'HostFell'
  | 'ClockSet'
  | 'HomeSlept'
  | 'HostsCut'
  | 'StreamBroken'
  | 'DiskFilled'
  | 'JournalLost'
  | 'NodeLost'
  | 'MachineWentDown'
  | 'HeuristicAsked'
  | 'MachineDrained'
  | 'ProviderDrained'
  | 'ProviderUndrained'
  | 'WorldMended';

/** Something that happened to processes of a world. */
export interface WorldEvent {
  /** True time. */
  readonly at: Instant;
  readonly kind: WorldEventKind;
  /** To which, as turns name them; empty where it is to all. */
  readonly processes: readonly string[];
  /** More of it; may be empty. */
  readonly detail: string;
}
