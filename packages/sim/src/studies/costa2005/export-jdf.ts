import { listParts } from './parts.ts';
import { listOptions } from './report-text.ts';
import type { StudySettings } from './scenarios.ts';

/** Where the tasks of an exported study find things. */
export interface ExportPlaces {
  /** The command `mutirao` on the machines, for a shell. */
  readonly command: string;
  /** The folder of the logs at home; absolute. */
  readonly data: string;
}

/**
 * Writes a study as a job file (JDF) of one task per chunk, as its authors ran theirs on OurGrid.
 *
 * Logs go to the machines' storage, once each; results come home to `chunks/` in the folder of the job file, where the
 * study finds them.
 */
export function exportJdf(settings: StudySettings, { command, data }: ExportPlaces): string {
  const tasks = listParts(settings).map(({ id, trace }) => [
    '',
    'task:',
    'init:',
    `  store ${quotePath(`${data}/${trace.file}`)} ${trace.file}`,
    `remote: ${command} sim study-chunk costa2005 ${id}${listOptions(settings)} --seed ${settings.seed} --data ` +
      '"$STORAGE" --out result.jsonl',
    'final:',
    `  get result.jsonl chunks/${id}.jsonl`,
  ]);
  return [...['job:', 'label: costa2005'], ...tasks.flat(), ''].join('\n');
}

function quotePath(path: string): string {
  return /\s/.test(path) ? `"${path}"` : path;
}
