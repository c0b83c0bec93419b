import test from 'ava';
import type { MachineDetail } from '@mutirao/web/schema';
import { listUses } from '../../../client/src/model/machine-use.ts';

const running = (given: Partial<MachineDetail['running'][number]>): MachineDetail['running'][number] => ({
  job_id: 4,
  task_index: 7,
  value: '',
  replica_id: 1,
  dispatched_unix_ms: 0,
  started_unix_ms: 0,
  processors: 1,
  memory_bytes: 0,
  gpu_thousandths: 0,
  ...given,
});
const detail = (given: Partial<MachineDetail['machine']>, tasks: MachineDetail['running']): MachineDetail =>
  ({
    machine: { processors: 8, memory_bytes: 0, gpus: [], ...given },
    running: tasks,
    is_complete: true,
  }) as unknown as MachineDetail;

test('a machine shows of its processors, memory and GPUs what each running task holds', (t) => {
  const uses = listUses(
    detail({ memory_bytes: 32e9, gpus: [{ kind: 'a100', count: 2 }] }, [
      running({ processors: 4, memory_bytes: 8e9 }),
      running({ task_index: 9, processors: 2, gpu_thousandths: 1500 }),
    ]),
  );
  t.deepEqual(
    uses.map(({ title, says }) => [title, says]),
    [
      ['Processors', '6 of 8'],
      ['Memory', '8.0 GB of 32 GB'],
      ['GPUs (a100)', '1.5 of 2'],
    ],
  );
  t.deepEqual(uses[2]?.parts, [{ task: 'task 9 of job 4: 1.5', amount: 1.5 }]);
});

test('resources that a machine does not state are left out', (t) => {
  t.deepEqual(
    listUses(detail({}, [running({ memory_bytes: 5 })])).map(({ title, says }) => [title, says]),
    [['Processors', '1 of 8']],
  );
});
