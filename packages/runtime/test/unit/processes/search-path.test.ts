import test from 'ava';
import { completeSearchPath } from '../../../src/processes/search-path.ts';

test('a search path gets the standard folders that it lacks, behind its own', (t) => {
  for (const [own, completed] of [
    ['/nowhere', '/nowhere:/usr/bin:/bin'],
    ['/opt/bin:/bin', '/opt/bin:/bin:/usr/bin'],
    ['/usr/local/bin:/usr/bin:/bin', '/usr/local/bin:/usr/bin:/bin'],
    ['', '/usr/bin:/bin'],
    [undefined, undefined],
  ] as const) {
    const environment: Record<string, string | undefined> = { PATH: own };
    completeSearchPath(environment);
    t.is(environment['PATH'], completed);
  }
});
