// How long short commands take from start to end, over an empty Node. PACKED names a packed executable to measure too.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Grid } from '@mutirao/testkit';
import { below, median, option, plain, report, type Figure } from './harness.ts';

const rounds = option('rounds', 15);
const checkout = fileURLToPath(new URL('../packages/cli/bin/mutirao.js', import.meta.url));
const packed = process.env['PACKED'];

const grid = await Grid.start({ machines: [1] });
try {
  const env = { ...process.env, MUTIRAO_HOME: grid.home };
  const measure = (command: string, ...args: readonly string[]): number => {
    const start = performance.now();
    const { status, stderr } = spawnSync(command, args, { env });
    if (status !== 0) throw new Error(`${args.join(' ')}: status ${status}, ${stderr}`);
    return performance.now() - start;
  };
  const programs: [name: string, run: (...args: readonly string[]) => number][] = [
    ['', (...args) => measure(process.execPath, checkout, ...args)],
  ];
  if (packed !== undefined) programs.push([' (packed)', (...args) => measure(packed, ...args)]);
  const commands = [['--version'], ['job', 'list'], ['status']];
  const times = new Map<string, number[]>();
  const note = (name: string, ms: number): void => {
    times.set(name, [...(times.get(name) ?? []), ms]);
  };
  for (let round = 0; round <= rounds; round++) {
    const empty = measure(process.execPath, '-e', '0');
    if (round > 0) note('node -e 0', empty);
    for (const [name, run] of programs) {
      for (const command of commands) {
        const ms = run(...command);
        // The first of each warms caches.
        if (round > 0) note(`mutirao ${command.join(' ')}${name}`, ms);
      }
    }
  }
  const base = median(times.get('node -e 0') ?? []);
  const figures = [...times].map(
    ([name, all]): Figure =>
      name === 'node -e 0'
        ? plain(name, base, 'ms')
        : below(`${name} over an empty Node`, median(all) / base, 'times', 1.5),
  );
  report('start of the command line', figures);
} finally {
  await grid.stop();
}
