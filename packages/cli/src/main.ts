import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';

import type { ExitStatus } from './exit-status.ts';
import { OutputClosed, OutputFailed, writeStandardError } from './output/write-standard.ts';

/** Runs the command line `argv` (without the names of Node and the script) and returns its exit status. */
export async function main(argv: readonly string[]): Promise<ExitStatus> {
  const unreadable = argv.find((word) => word.includes('\uFFFD'));
  if (unreadable !== undefined && !isUtf8(readCommandLine())) {
    // An older Node says the same before it hands over: bin/mutirao.js.
    writeStandardError(
      `error: MUT_BAD_REQUEST "${unreadable}" on the command line is not UTF-8 and would be taken for another ` +
        'text; expected UTF-8\nConvert it (iconv -f latin1 -t utf-8), or write values into a file in UTF-8 and ' +
        'name that with --each-line.\n',
    );
    return 2;
  }
  if (process.pid === 1) (await import('@mutirao/runtime/processes')).leaveFirst();
  process.on('uncaughtException', endAtOutput);
  const { runCommand } = await import('./program.ts');
  try {
    return await runCommand(argv);
  } finally {
    process.off('uncaughtException', endAtOutput);
  }
}

/** The words as they were given; Node puts a replacement for each byte that it cannot read. */
function readCommandLine(): Buffer {
  try {
    return readFileSync('/proc/self/cmdline');
  } catch {
    return Buffer.alloc(0);
  }
}

/** Output that is written while nothing waits for it, as where an event comes in, fails there. */
function endAtOutput(error: unknown): void {
  if (error instanceof OutputClosed) process.exit(0);
  writeStandardError(
    'error: ' +
      `${error instanceof OutputFailed ? `${error.code} ${error.message}` : `MUT_INTERNAL ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`}\n`,
  );
  process.exit(error instanceof OutputFailed ? 3 : 70);
}
