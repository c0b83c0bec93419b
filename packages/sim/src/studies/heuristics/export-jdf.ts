import { listChunks, type HeuristicsSettings } from './scenarios.ts';

/** Where the tasks of an exported study find things, and what makes them parts of this one. */
export interface HeuristicsExport {
  /** The command `mutirao` on the machines, for a shell. */
  readonly command: string;
  /** The folder of the logs at home; absolute. */
  readonly data: string;
}

/**
 * Writes the study as a job file (JDF) of one task per chunk. Logs go to the machines' storage, once each; results come
 * home to `chunks/` in the folder of the job file, where the study finds them.
 */
export function exportHeuristicsJdf(settings: HeuristicsSettings, { command, data }: HeuristicsExport): string {
  const options = [
    `--seed ${settings.seed}`,
    `--instants ${settings.instants}`,
    `--max-pending ${settings.pending.join(',')}`,
    `--heuristics ${settings.heuristics.join(',')}`,
  ].join(' ');
  const tasks = listChunks(settings).map(({ id, trace }) => [
    '',
    'task:',
    'init:',
    `  store ${quotePath(`${data}/${trace.file}`)} ${trace.file}`,
    `remote: ${command} sim study-chunk heuristics ${id} ${options} --data "$STORAGE" --out result.jsonl`,
    'final:',
    `  get result.jsonl chunks/${id}.jsonl`,
  ]);
  return [...['job:', 'label: heuristics'], ...tasks.flat(), ''].join('\n');
}

function quotePath(path: string): string {
  return /\s/.test(path) ? `"${path}"` : path;
}
