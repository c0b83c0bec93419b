import { resolve } from 'node:path';
import type { Command } from 'commander';

import { convertWorkflow, writtenFormats } from '@mutirao/formats/workflow';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import type { JsonOf, shapes } from '../../json/shapes.ts';
import { printResult } from '../../output/print-result.ts';
import { writeNamed } from '../../output/write-named.ts';
import { readWord } from '../../simulation/numbers.ts';
import { readWorkflowFile } from '../../simulation/read-workflow.ts';

/** What `workflow convert` takes. */
export interface ConvertOptions {
  readonly to: string;
  readonly output?: string;
}

export function define(command: Command, act: Act): void {
  command
    .argument('<file>', 'a workflow file: YAML, WfFormat, DAX or job XML, may be gzipped')
    .requiredOption('--to <format>', `format to write: ${writtenFormats.join(', ')}`)
    .option('--output <file>', 'the file to write (default: standard output)')
    .action((file: string, options: ConvertOptions) =>
      act((context) => Promise.resolve(convert(context, file, options))),
    );
}

/** Writes a workflow file in another format, and says what that has no place for. */
export function convert(context: CommandContext, file: string, { to, output }: ConvertOptions): ExitStatus {
  const { text, losses } = convertWorkflow(readWorkflowFile(context, file), readWord('--to', to, writtenFormats));
  for (const loss of losses) context.output.note(`${file}: ${loss}`);
  if (output !== undefined) writeNamed(resolve(context.directory, output), text);
  const shown = output === undefined ? text : '';
  const lines = shown === '' ? [] : shown.trimEnd().split('\n');
  printResult(context.output, {
    json: (): JsonOf<typeof shapes.converted_workflow> => ({ format: to, text: shown, losses }),
    table: () => lines,
    quiet: () => lines,
  });
  return 0;
}
