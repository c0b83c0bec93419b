import test from 'ava';
import { findTaskLimits, parseProcessLimits } from '../../../src/processes/soft-limits.ts';

const text = `Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              3                    unlimited            seconds   
Max open files            1024                 524288               files     
Max nice priority         0                    0                    
`;

test('the limits of a process are read as the kernel writes them', (t) => {
  t.deepEqual(
    [...parseProcessLimits(text)],
    [
      ['Max cpu time', { soft: '3', hard: 'unlimited' }],
      ['Max open files', { soft: '1024', hard: '524288' }],
      ['Max nice priority', { soft: '0', hard: '0' }],
    ],
  );
});

test("tasks get back the limits of the user's shell that bind one process, and no others", (t) => {
  t.deepEqual(findTaskLimits({ MUTIRAO_TASK_LIMITS: 'cpu=3,fsize=2048,nproc=60,nofile=1024' }), {
    prefix: ['prlimit', '--fsize=2048:'],
    line: 'ulimit -S -n 1024 2>/dev/null\n',
  });
});

test('a host where nothing was changed, or a variable of somebody else, costs nothing', (t) => {
  for (const value of [undefined, '', 'x; rm -rf /', 'nofile=1;echo', 'fsize='])
    t.deepEqual(findTaskLimits(value === undefined ? {} : { MUTIRAO_TASK_LIMITS: value }), { prefix: [], line: '' });
});
