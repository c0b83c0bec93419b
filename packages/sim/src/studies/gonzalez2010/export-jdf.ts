import { listParts, type SiteSelectionStudySettings } from './parts.ts';

/** Where the tasks of an exported study find things. */
export interface ExportPlaces {
  /** The command `mutirao` on the machines, for a shell. */
  readonly command: string;
  /** The folder of the logs at home; absolute. */
  readonly data: string;
}

/**
 * Writes the study as a job file (JDF) of one task per part. Logs go to the machines' storage, once each; results come
 * home to `parts/` in the folder of the job file, where the study finds them.
 */
export function exportSiteSelectionJdf(settings: SiteSelectionStudySettings, { command, data }: ExportPlaces): string {
  const quick = settings.isQuick ? ' --quick' : ` --experiments ${settings.experiments}`;
  const tasks = listParts(settings).map(({ id, mix }) => [
    '',
    'task:',
    'init:',
    ...mix.files.map((file) => `  store ${quotePath(`${data}/${file}`)} ${file}`),
    `remote: ${command} sim study-chunk gonzalez2010 ${id}${quick} --seed ${settings.seed} --data "$STORAGE" ` +
      '--out result.jsonl',
    'final:',
    `  get result.jsonl parts/${id}.jsonl`,
  ]);
  return [...['job:', 'label: gonzalez2010'], ...tasks.flat(), ''].join('\n');
}

function quotePath(path: string): string {
  return /\s/.test(path) ? `"${path}"` : path;
}
