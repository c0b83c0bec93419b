import test from 'ava';
import type { Output } from '../../../../src/output/output.ts';
import { StudyProgress } from '../../../../src/simulation/study/study-progress.ts';

test('the remaining time is estimated by cost, so that small runs that come first do not make it look short', (t) => {
  const lines: string[] = [];
  const clock = { at: 0, now: () => clock.at };
  const output: Output = {
    mode: 'table',
    columns: 100,
    write: () => undefined,
    note: (line) => {
      lines.push(line);
    },
    writePrinted: () => undefined,
    progress: undefined,
  };
  const progress = new StudyProgress(output, clock, { runs: 110, cost: 1100 });
  clock.at = 10_000;
  progress.add({ runs: 100, cost: 100 });
  clock.at = 15_000;
  progress.add({ runs: 1, cost: 100 });
  clock.at = 110_000;
  progress.add({ runs: 9, cost: 900 });
  progress.close();
  t.deepEqual(lines, ['9% 100/110 runs  10s, about 1m40s left', '100% 110/110 runs  1m50s']);
});
