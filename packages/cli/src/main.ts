import type { ExitStatus } from './exit-status.ts';

/** Runs the command line `argv` (without the names of Node and the script) and tells its exit status. */
export async function main(argv: readonly string[]): Promise<ExitStatus> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    const { programVersion } = await import('./version.ts');
    process.stdout.write(`mutirao ${programVersion()}\n`);
    return 0;
  }
  const { runCommand } = await import('./program.ts');
  return runCommand(argv);
}
