import test from 'ava';
import { FormatError, parseAlternative, printAlternative } from '@mutirao/formats';

test('an alternative names processors, memory, GPUs, counted resources and a time', (t) => {
  t.deepEqual(parseAlternative('cpus=16,memory=8G,time=30m'), {
    processors: 16,
    resources: { memory: 8 * 2 ** 30, gpus: 0, named: {} },
    expectedTime: 1_800_000,
  });
  t.deepEqual(parseAlternative('GPUS=2:a100, licence=1'), {
    processors: 1,
    resources: { memory: 0, gpus: 2000, gpuKind: 'a100', named: { licence: 1 } },
  });
  t.deepEqual(parseAlternative('processors=4'), { processors: 4 });
});

test('an alternative is written as it is read', (t) => {
  for (const text of ['cpus=16,memory=8G,time=30m', 'gpus=0.5:a100,licence=2', 'cpus=1'])
    t.deepEqual(parseAlternative(printAlternative(parseAlternative(text))), parseAlternative(text), text);
});

const faults: readonly (readonly [string, RegExp])[] = [
  ['', /character 1: found the end, expected parts such as cpus=16,memory=8G,gpus=1,time=30m/],
  ['cpus', /character 1: .* expected a value behind "cpus", as in cpus=16/],
  ['cpus=0', /alternative "cpus=0", character 6: found "0", expected a number in 1\.\.65536/],
  ['cpus=4,cpus=8', /character 8: found "cpus=8", expected each part once, and cpus stands before/],
  ['cpus=4,memory=8X', /alternative "cpus=4,memory=8X", character 16: found "X"/],
  ['1x=1', /expected cpus, memory, gpus, time, or a counted resource such as licence=1/],
  ['cpus=2, gpu=1', /character 9: found "gpu=1", expected gpus, as gpus=1/],
  ['cpu=4', /character 1: found "cpu=4", expected cpus, as cpus=4/],
  ['cpus=4,mem=8G', /character 8: found "mem=8G", expected memory, as memory=8G/],
  ['cpus=4, memory = 8X', /character 19: found "X"/],
  ['time=soon', /alternative "time=soon", character 6: found "soon", expected a number with a unit/],
];
for (const [text, message] of faults)
  test(`the alternative "${text}" is refused with the place of what is wrong`, (t) => {
    t.throws(() => parseAlternative(text), { instanceOf: FormatError, message });
  });
