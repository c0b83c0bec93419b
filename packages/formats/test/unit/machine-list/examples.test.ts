import { readFileSync } from 'node:fs';
import test from 'ava';
import { parseMachineList } from '@mutirao/formats';

const example = (name: string): string =>
  readFileSync(new URL(`../../../../../examples/lab-machines/${name}`, import.meta.url), 'utf8');

test('the example of workers is a list of three machines', (t) => {
  const { machines, warnings } = parseMachineList(example('lab.sdf'), 'lab.sdf');
  t.deepEqual(
    machines.map(({ name, gateway, processors }) => ({ name, gateway, processors })),
    [
      { name: 'ana@pc1.example.org', gateway: '', processors: 0 },
      { name: 'ana@pc2.example.org', gateway: '', processors: 0 },
      { name: 'ana@pc3.example.org', gateway: 'ana@front.example.org', processors: 2 },
    ],
  );
  t.deepEqual(warnings, []);
});

test('the example of grid machines is one with templates', (t) => {
  const {
    machines: [machine, ...others],
    warnings,
  } = parseMachineList(example('lab.gdf'), 'lab.gdf');
  t.like(machine, {
    name: 'ana@old.example.org',
    user: 'ana',
    type: 'gridscript',
    folder: '/tmp/ana',
    templates: { remExec: 'ssh -o BatchMode=yes $machine $command' },
  });
  t.is(others.length + warnings.length, 0);
});
