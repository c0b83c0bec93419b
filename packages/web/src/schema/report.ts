import type { Gantt } from './gantt.ts';
import type { Ledger } from './ledger.ts';
import type { TaskTimes } from './times.ts';

/** What the charts of a report that was saved are drawn of. */
export interface ReportData {
  readonly gantt: Gantt;
  readonly times: TaskTimes;
  readonly ledger: Ledger;
}
