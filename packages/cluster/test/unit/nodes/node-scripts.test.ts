import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { temporaryFolder } from '@mutirao/testkit';
import { watchScript } from '../../../src/nodes/node-scripts.ts';

/** A node's folder of the cluster `lab`, whose watch is that of the token `t1`. */
class Node {
  readonly home: string;

  constructor(t: ExecutionContext) {
    this.home = temporaryFolder(t);
    mkdirSync(this.at(), { recursive: true });
    this.write('watcher', 't1\n');
  }

  at(name = ''): string {
    return join(this.home, '.mutirao/requests/lab', name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.at(name), text);
  }

  /** A process that was started before the host was, so that nothing is signalled. */
  end(key: string, status: number, output: string): void {
    this.write(`${key}.pid`, '1 1 another-start.\n');
    this.write(`${key}.status`, `${status}\n`);
    this.write(`${key}.out`, output);
  }

  async watch(token: string): Promise<string> {
    const { stdout } = await runCommand({
      command: '/bin/sh',
      args: ['-c', ...watchScript('lab', token)],
      env: { ...process.env, HOME: this.home },
      deadlineMs: 30_000,
    });
    return stdout.toString();
  }
}

test('a watch prints each end once, and the last words of a failure', async (t) => {
  const node = new Node(t);
  node.end('1.0', 0, 'all is well\n');
  node.end('2.0', 127, 'starting\nmutirao: cannot execute: \\n \x1b[1mrequired file not found\n');
  t.deepEqual((await node.watch('t1')).split('\n'), [
    '1.0 0',
    '2.0 127 mutirao: cannot execute: \\n  [1mrequired file not found ',
    '',
  ]);
  t.deepEqual(
    ['1.0.pid', '1.0.status', '2.0.pid', '1.0.out', '2.0.out'].map((name) => existsSync(node.at(name))),
    [false, false, false, true, true],
  );
});

test('a watch whose place another has taken prints nothing and leaves everything', async (t) => {
  const node = new Node(t);
  node.end('1.0', 0, '');
  t.is(await node.watch('t0'), '');
  t.true(existsSync(node.at('1.0.pid')));
});

test('outputs that are older than a thousand others go', async (t) => {
  const node = new Node(t);
  for (let number = 0; number < 1002; number += 1) {
    node.write(`${number}.0.out`, '');
    utimesSync(node.at(`${number}.0.out`), number, number);
  }
  node.end('2000.0', 0, '');
  t.is(await node.watch('t1'), '2000.0 0\n');
  t.deepEqual(
    [0, 1, 2, 3, 1001, 2000].map((number) => existsSync(node.at(`${number}.0.out`))),
    [false, false, false, true, true, true],
  );
});
