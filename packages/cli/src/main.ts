import type { ExitStatus } from './exit-status.ts';

/** Runs the command line `argv` (without program names) and tells its exit status. */
export async function main(argv: readonly string[]): Promise<ExitStatus> {
  const { programVersion } = await import('./version.ts');
  process.stdout.write(`mutirao ${programVersion()}\n`);
  return argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V') ? 0 : 2;
}
