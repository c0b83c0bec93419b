/** A line of GNU parallel's joblog. */
export interface JobLogEntry {
  readonly sequence: number;
  /** `:` is this host. */
  readonly host: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly runTime: number;
  /** Bytes sent and received. */
  readonly sent: number;
  readonly received: number;
  /** -1 for a job that a time limit ended. */
  readonly exitStatus: number;
  /** 0 for none. */
  readonly signal: number;
  readonly command: string;
}

export const jobLogHeader = 'Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand';

/** Writes a line as GNU parallel does; line ends in the command are written as `\n` in one line. */
export function printJobLogEntry(entry: JobLogEntry): string {
  const { sequence, host, startedAt, runTime, sent, received, exitStatus, signal, command } = entry;
  return [
    sequence,
    host,
    (startedAt / 1000).toFixed(3),
    (runTime / 1000).toFixed(3).padStart(10),
    sent,
    received,
    exitStatus,
    signal,
    command.replaceAll('\n', String.raw`\n`),
  ].join('\t');
}

/** What a joblog says of earlier jobs; of several lines with one number the last counts. Lines that are cut are left out. */
export function readJobLog(text: string): Map<number, { readonly hasFailed: boolean; readonly command: string }> {
  const jobs = new Map<number, { readonly hasFailed: boolean; readonly command: string }>();
  for (const line of text.split('\n')) {
    const [sequence = '', , , , , , exitStatus = '', signal = '', ...command] = line.split('\t');
    if (!/^\d+$/.test(sequence) || !/^-?\d+$/.test(exitStatus) || !/^\d+$/.test(signal)) continue;
    jobs.set(Number(sequence), {
      hasFailed: exitStatus !== '0' || signal !== '0',
      command: command.join('\t').replaceAll(String.raw`\n`, '\n'),
    });
  }
  return jobs;
}
