import { resolve } from 'node:path';
import type { Command } from 'commander';

import { makeBackup } from '../backup/make-backup.ts';
import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { backupJson } from '../json/documents.ts';
import { printResult } from '../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<folder>', 'the folder to create; it must not exist, or be empty')
    .action((folder: string) => act((context) => backUp(context, folder)));
}

/** Copies the parts of the home folder that cannot be recreated, while no process has one of its journals open. */
export async function backUp(context: CommandContext, name: string): Promise<ExitStatus> {
  const folder = resolve(context.directory, name);
  const manifest = await makeBackup(context.home, folder, context.clock.now());
  printResult(context.output, {
    json: () => backupJson(folder, manifest, undefined),
    table: () => [
      `${manifest.files.length} files of ${context.home} are in ${folder}. "mutirao restore ${folder}" puts them back.`,
    ],
    quiet: () => [folder],
  });
  return 0;
}
