import type { Instant } from '@mutirao/core/shared';

/** Events of processes that are not their own actions. */
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
  /** The processes concerned, as turns name them; empty if it concerns all. */
  readonly processes: readonly string[];
  /** More of it; may be empty. */
  readonly detail: string;
}
