// One agent of a host brings what several want, and nobody waits for one that does not.
import { existsSync, linkSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Content } from '@mutirao/core/messages';
import { systemClock } from '@mutirao/runtime/driver';
import { temporaryFolder } from '@mutirao/testkit';
import { HostContents } from '../../src/host-contents.ts';

const content: Content = { sha256: 'a'.repeat(64), size: 100_000 };
const wanted = (): boolean => true;

/** Agents of one home folder, and its clock, which goes on while one waits. */
class Host {
  readonly folder: string;
  now = 1_000_000;
  /** Called at each pause. */
  meanwhile: () => void = () => undefined;

  constructor(t: ExecutionContext) {
    this.folder = temporaryFolder(t);
  }

  agent(provider = 'lab:1'): HostContents {
    return new HostContents({
      folder: path.join(this.folder, 'shared'),
      provider,
      clock: { now: () => this.now },
      pause: async (delay) => {
        this.now += delay;
        this.meanwhile();
        await Promise.resolve();
      },
    });
  }

  get claim(): string {
    return path.join(this.folder, 'shared', `${content.sha256}.claim`);
  }

  /** A file in an agent's own store. */
  brought(name: string): string {
    const file = path.join(this.folder, name);
    writeFileSync(file, Buffer.alloc(content.size));
    return file;
  }
}

test('of agents that want a content one brings it and the others get a link to it', async (t) => {
  const host = new Host(t);
  const [one, other] = [host.agent(), host.agent()];
  t.deepEqual(await one.obtain(content, wanted), { kind: 'bring' });
  t.deepEqual(await one.obtain(content, wanted), { kind: 'bring' }, 'asked again it is still the one');
  const waiting = other.obtain(content, wanted);
  host.meanwhile = () => {
    host.meanwhile = () => undefined;
    one.publish(content.sha256, host.brought('store'));
  };
  const file = path.join(host.folder, 'shared', content.sha256);
  t.deepEqual(await waiting, { kind: 'file', path: file });
  t.deepEqual(readdirSync(path.dirname(file)), [content.sha256]);
  t.deepEqual(await host.agent().obtain(content, wanted), { kind: 'file', path: file });
  t.deepEqual(
    await other.obtain({ ...content, size: 99_999 }, wanted),
    { kind: 'bring' },
    'a file of another size is not it',
  );
});

test('when the one gives up another one brings it; nobody waits for what is not wanted any more', async (t) => {
  const host = new Host(t);
  const [one, other, third] = [host.agent(), host.agent(), host.agent()];
  await one.obtain(content, wanted);
  let isWanted = true;
  host.meanwhile = () => {
    isWanted = false;
  };
  t.is(await third.obtain(content, () => isWanted), undefined);
  host.meanwhile = () => {
    one.release(content.sha256);
  };
  t.deepEqual(await other.obtain(content, wanted), { kind: 'bring' });
  one.release(content.sha256);
  t.true(existsSync(host.claim), 'what is not ours is not released');
  other.close();
  t.false(existsSync(host.claim));
});

test('a claim is taken over at once when its process is gone, and after a while when nothing comes, but not while something does', async (t) => {
  const host = new Host(t);
  const [one, other, third] = [host.agent(), host.agent(), host.agent()];
  await one.obtain(content, wanted);
  const owner = JSON.parse(readFileSync(host.claim, 'utf8')) as object;
  const since = host.now;
  writeFileSync(host.claim, JSON.stringify({ ...owner, startedTicks: '1' }));
  t.deepEqual(await other.obtain(content, wanted), { kind: 'bring' });
  t.is(host.now, since);
  // Another host's process cannot be looked at.
  writeFileSync(host.claim, JSON.stringify({ ...owner, host: 'elsewhere' }));
  let beats = 0;
  host.meanwhile = () => {
    beats += 1;
    if (beats <= 100) utimesSync(host.claim, beats, beats);
  };
  t.deepEqual(await third.obtain(content, wanted), { kind: 'bring' });
  t.true(beats > 100);
});

test('agents that read the file system where contents are do not wait for each other', async (t) => {
  const host = new Host(t);
  const [one, other, elsewhere] = [host.agent(), host.agent(), host.agent('lab:2')];
  host.now = systemClock.now();
  await one.obtain(content, wanted);
  one.noteNear({ ...content, size: 10 });
  t.true(other.isShared(content), 'small ones say nothing');
  one.noteNear(content);
  t.deepEqual([other.isShared(content), elsewhere.isShared(content)], [false, true]);
  t.deepEqual(await other.obtain(content, wanted), { kind: 'alone' });
  other.noteFar();
  t.true(one.isShared(content));
  t.false(one.isShared({ ...content, size: 65_536 }));
});

test('contents that no agent has any more are removed, and an impossible folder does not cause an error', async (t) => {
  const host = new Host(t);
  const one = host.agent();
  await one.obtain(content, wanted);
  const stored = host.brought('store');
  one.publish(content.sha256, stored);
  const file = path.join(host.folder, 'shared', content.sha256);
  host.agent();
  t.true(existsSync(file));
  linkSync(file, `${stored}.other`);
  rmSync(stored);
  host.agent();
  t.true(existsSync(file));
  rmSync(`${stored}.other`);
  host.agent();
  t.false(existsSync(file));
  const nowhere = new HostContents({
    folder: path.join(host.brought('file'), 'below'),
    provider: 'p',
    clock: { now: () => 1 },
    pause: () => Promise.resolve(),
  });
  t.deepEqual(await nowhere.obtain(content, wanted), { kind: 'alone' });
});

test('what one agent wrote is a link for the others, and nobody brings it', async (t) => {
  const host = new Host(t);
  const [one, other] = [host.agent(), host.agent()];
  one.offer(content, host.brought('written'));
  other.offer(content, host.brought('again'));
  const file = path.join(host.folder, 'shared', content.sha256);
  t.deepEqual(await other.obtain(content, wanted), { kind: 'file', path: file });
  one.offer({ sha256: 'b'.repeat(64), size: content.size }, path.join(host.folder, 'gone'));
  t.true(other.isShared(content) && one.isShared(content), 'a content that was not kept does not stop sharing');
  t.deepEqual(readdirSync(path.dirname(file)), [content.sha256]);
});
