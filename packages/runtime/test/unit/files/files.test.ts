import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import {
  ContentStore,
  ensureToken,
  hashFile,
  mutiraoHome,
  readToken,
  resolveInside,
  tokenPath,
  writeAtomic,
} from '@mutirao/runtime/files';
import test, { type TestFn } from 'ava';

const suite = test as TestFn<{ folder: string }>;
suite.beforeEach((t) => {
  t.context.folder = realpathSync(mkdtempSync(join(tmpdir(), 'mutirao-files-')));
});
suite.afterEach.always((t) => {
  rmSync(t.context.folder, { recursive: true, force: true });
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const getHash = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
const hello = { sha256: getHash(bytes('hello')), size: 5 };

for (const size of [0, 1, 1024 * 1024, 3 * 1024 * 1024 + 17]) {
  suite(`a file of ${size} bytes has the hash of its bytes`, async (t) => {
    const content = Buffer.alloc(size, 'mutirao');
    writeFileSync(join(t.context.folder, 'file'), content);
    t.deepEqual(await hashFile(join(t.context.folder, 'file')), { sha256: getHash(content), size });
  });
}

suite('a missing file is reported by name', async (t) => {
  await t.throwsAsync(hashFile(join(t.context.folder, 'none')), {
    code: 'MUT_FILE_NOT_FOUND',
    message: /none is not there/,
  });
});

suite('a token is made once, for this user alone, and then read', (t) => {
  const path = tokenPath(join(t.context.folder, 'home'));
  const token = ensureToken(path);
  t.is(token.length, 43);
  t.is(ensureToken(path), token);
  t.is(statSync(path).mode & 0o777, 0o600);
  t.deepEqual(readdirSync(join(t.context.folder, 'home')), ['token']);
});

suite('a token that others may read is refused', (t) => {
  const path = tokenPath(t.context.folder);
  ensureToken(path);
  chmodSync(path, 0o640);
  t.throws(() => ensureToken(path), { code: 'MUT_TOKEN_UNSAFE', message: /mode 640; expected 600/ });
});

suite('an empty token file is refused, a missing one too when it must be there', (t) => {
  const path = tokenPath(t.context.folder);
  t.throws(() => readToken(path), { code: 'MUT_UNAUTHENTICATED' });
  writeFileSync(path, '\n', { mode: 0o600 });
  t.throws(() => ensureToken(path), { code: 'MUT_TOKEN_UNSAFE' });
});

suite('the home folder is what the environment says, absolute', (t) => {
  t.is(mutiraoHome({ MUTIRAO_HOME: '/a/b/../c' }), '/a/c');
  t.regex(mutiraoHome({}), /\/\.mutirao$/);
});

suite('a file that is written atomically replaces the old one and leaves no draft', (t) => {
  const path = join(t.context.folder, 'deep', 'file');
  writeAtomic(path, 'one');
  writeAtomic(path, 'two');
  t.is(readFileSync(path, 'utf8'), 'two');
  t.deepEqual(readdirSync(join(t.context.folder, 'deep')), ['file']);
});

suite('a path that cannot be replaced leaves no draft', (t) => {
  mkdirSync(join(t.context.folder, 'taken', 'x'), { recursive: true });
  t.throws(() => {
    writeAtomic(join(t.context.folder, 'taken'), 'one');
  });
  t.deepEqual(readdirSync(t.context.folder), ['taken']);
});

suite('a path inside its root resolves, whether it exists or not', (t) => {
  const { folder } = t.context;
  mkdirSync(join(folder, 'a'));
  symlinkSync('a', join(folder, 'link'));
  t.is(resolveInside(folder, 'a/./new/file'), join(folder, 'a/new/file'));
  t.is(resolveInside(folder, 'a/../b'), join(folder, 'b'));
  t.is(resolveInside(folder, 'link/file'), join(folder, 'a/file'));
  t.is(resolveInside(folder, '.'), folder);
});

suite('a path that leaves its root is refused, by dots, by being absolute or by a link', (t) => {
  const { folder } = t.context;
  const root = join(folder, 'root');
  mkdirSync(join(folder, 'root-twin'));
  mkdirSync(root);
  symlinkSync('/', join(root, 'out'));
  symlinkSync('../root-twin', join(root, 'twin'));
  symlinkSync('nowhere', join(root, 'dangling'));
  for (const path of ['../x', 'a/../../x', '/etc/passwd', 'out/etc/passwd', 'out', 'twin/x', 'dangling', 'a\0b']) {
    t.throws(() => resolveInside(root, path), { instanceOf: MutiraoError, code: 'MUT_PATH_ESCAPES' }, path);
  }
});

suite('a store keeps bytes under their hash', async (t) => {
  const store = new ContentStore(t.context.folder, { isDurable: true });
  t.false(store.has(hello.sha256));
  t.deepEqual(await store.putBytes(bytes('hello')), hello);
  t.deepEqual(await store.putBytes(bytes('hello')), hello);
  t.is(store.path(hello.sha256), join(t.context.folder, hello.sha256.slice(0, 2), hello.sha256));
  t.is(readFileSync(store.path(hello.sha256), 'utf8'), 'hello');
  t.is(store.size(hello.sha256), 5);
  t.deepEqual(await store.list(), [hello]);
  t.true(await store.remove(hello.sha256));
  t.false(await store.remove(hello.sha256));
  t.deepEqual(await store.list(), []);
});

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(bytes(text));
}

suite('a store takes a stream and verifies it', async (t) => {
  const store = new ContentStore(t.context.folder, { isDurable: false });
  t.deepEqual(await store.putStream(chunks('hel', 'lo'), { content: hello }), hello);
  await t.throwsAsync(store.putStream(chunks('hel', 'LO'), { content: hello }), { code: 'MUT_CONTENT_MISMATCH' });
  await t.throwsAsync(store.putStream(chunks('hel'), { content: hello }), { code: 'MUT_CONTENT_MISMATCH' });
  await t.throwsAsync(store.putStream(chunks('hello', '!'), { content: hello }), { code: 'MUT_CONTENT_TOO_LARGE' });
  await t.throwsAsync(store.putStream(chunks('hello'), { bytesMax: 4 }), { code: 'MUT_CONTENT_TOO_LARGE' });
  t.deepEqual(await store.list(), [hello]);
  t.deepEqual(readdirSync(join(t.context.folder, 'tmp')), []);
});

suite('a content whose stream breaks keeps what came, and the rest makes it whole; what is wrong keeps nothing', async (t) => {
  const store = new ContentStore(t.context.folder, { isDurable: false });
  async function* breaking(...texts: string[]): AsyncGenerator<Uint8Array> {
    yield* chunks(...texts);
    throw new MutiraoError('MUT_UNREACHABLE', 'cut');
  }
  await t.throwsAsync(store.putRest(breaking('he'), hello, 0), { code: 'MUT_UNREACHABLE' });
  t.is(store.partSize(hello.sha256), 2);
  await t.throwsAsync(store.putRest(chunks('lo'), hello, 3), {
    code: 'MUT_TRANSFER_FAILED',
    message: /begins at byte 3/,
  });
  await t.throwsAsync(store.putRest(chunks('l'), hello, 2), {
    code: 'MUT_TRANSFER_FAILED',
    message: /ended after 3 bytes; expected 5/,
  });
  t.deepEqual(await store.putRest(chunks('l', 'lo'), hello, 2), hello);
  t.is(readFileSync(store.path(hello.sha256), 'utf8'), 'hello');
  t.is(statSync(store.path(hello.sha256)).mode & 0o777, 0o400);
  t.is(store.partSize(hello.sha256), 0);
  await store.remove(hello.sha256);
  for (const [wrong, code] of [
    [['hel', 'LO'], 'MUT_CONTENT_MISMATCH'],
    [['hello', '!'], 'MUT_CONTENT_TOO_LARGE'],
  ] as const) {
    await t.throwsAsync(store.putRest(chunks(...wrong), hello, 0), { code });
    t.is(store.partSize(hello.sha256), 0);
  }
  await t.throwsAsync(store.putRest(breaking('hell'), hello, 0), { code: 'MUT_UNREACHABLE' });
  t.deepEqual(await store.putRest(chunks('hello'), hello, 0), hello, 'a transfer may begin again');
});

suite('a stream that breaks leaves nothing behind', async (t) => {
  const store = new ContentStore(t.context.folder, { isDurable: false });
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(bytes('hel'));
    throw new MutiraoError('MUT_UNREACHABLE', 'gone');
  }
  await t.throwsAsync(store.putStream(broken(), {}), { code: 'MUT_UNREACHABLE' });
  t.deepEqual(readdirSync(join(t.context.folder, 'tmp')), []);
});

suite('a file goes into the store', async (t) => {
  const store = new ContentStore(join(t.context.folder, 'store'), { isDurable: false });
  writeFileSync(join(t.context.folder, 'file'), 'hello');
  t.deepEqual(await store.putFile(join(t.context.folder, 'file')), hello);
  await t.throwsAsync(store.putFile(join(t.context.folder, 'none')), { code: 'MUT_FILE_NOT_FOUND' });
});

suite('drafts that a killed process left are cleared at the next start', async (t) => {
  mkdirSync(join(t.context.folder, 'tmp'));
  writeFileSync(join(t.context.folder, 'tmp', '1'), 'half');
  const store = new ContentStore(t.context.folder, { isDurable: false });
  t.deepEqual(readdirSync(join(t.context.folder, 'tmp')), []);
  await t.notThrowsAsync(store.putBytes(bytes('hello')));
});

suite('a name that is no hash never becomes a path', (t) => {
  const store = new ContentStore(t.context.folder, { isDurable: false });
  t.throws(() => store.path('../../etc/passwd'), { name: 'InvariantError' });
});
