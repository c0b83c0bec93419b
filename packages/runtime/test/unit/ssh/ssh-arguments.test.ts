import test from 'ava';
import { masterArguments } from '../../../src/ssh/ssh-arguments.ts';

test("the user's options come before ours, so that ssh takes hers", (t) => {
  const words = masterArguments('ana@front', ['Port=2222', '-F/home/ana/my config', 'BatchMode=no'], '/tmp/c');
  t.deepEqual(words.slice(0, 5), ['-o', 'Port=2222', '-F/home/ana/my config', '-o', 'BatchMode=no']);
  t.true(words.indexOf('BatchMode=no') < words.indexOf('BatchMode=yes'));
  t.deepEqual(words.slice(-2), ['--', 'ana@front']);
});

for (const destination of ['', '-oProxyCommand=touch /tmp/x', 'ana front', 'ana@front\n']) {
  test(`the destination ${JSON.stringify(destination)} is refused`, (t) => {
    t.throws(() => masterArguments(destination, [], '/tmp/c'), {
      code: 'MUT_BAD_REQUEST',
      message: /expected user@host/,
    });
  });
}

for (const option of [
  '',
  '-',
  'Port',
  '-N',
  '-M',
  '-S/tmp/x',
  '-O',
  'controlpath=/tmp/x',
  'RemoteCommand=ls',
  '-L1:h:2',
  'a b=c',
  'Port=1\nUser=b',
]) {
  test(`the option ${JSON.stringify(option)} is refused`, (t) => {
    t.throws(() => masterArguments('front', [option], '/tmp/c'), {
      code: 'MUT_BAD_REQUEST',
      message: /expected KEY=VALUE/,
    });
  });
}
