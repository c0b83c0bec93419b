import { resolve } from 'node:path';
import type { Command } from 'commander';

import { prepareHome } from '@mutirao/runtime/files';

import { restoreBackup } from '../backup/restore-backup.ts';
import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { backupJson } from '../json/documents.ts';
import { printResult } from '../output/print-result.ts';
import { showInstant } from '../output/units.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<folder>', 'a folder that "mutirao backup" made')
    .option('--replace', 'move the present contents of the home folder into its subfolder "replaced" first')
    .action((folder: string, options: { readonly replace?: true }) =>
      act((context) => restore(context, folder, options.replace === true)),
    );
}

/** Puts a back-up back into the home folder, while nothing runs that has a journal of it open. */
export async function restore(context: CommandContext, name: string, replaces: boolean): Promise<ExitStatus> {
  const folder = resolve(context.directory, name);
  prepareHome(context.home);
  const { manifest, replacedFolder } = await restoreBackup(context.home, folder, {
    replaces,
    now: context.clock.now(),
  });
  printResult(context.output, {
    json: () => backupJson(folder, manifest, replacedFolder),
    table: () => [
      `${manifest.files.length} files are back in ${context.home}, as they were at ` +
        `${showInstant(manifest.madeUnixMs)}.`,
      'Tasks that have ended since run again, and jobs that were submitted since are unknown.',
      ...(replacedFolder === undefined ? [] : [`What was there before is in ${replacedFolder}.`]),
    ],
    quiet: () => [folder],
  });
  return 0;
}
