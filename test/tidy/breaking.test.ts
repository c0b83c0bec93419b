// Changes of proto/ are planted, and those that would break a program made for the last release must be refused.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '@mutirao/testkit';

const root = fileURLToPath(new URL('../../', import.meta.url));
const broker = 'proto/mutirao/broker/v1/broker.proto';
const env = { ...process.env, PATH: `${root}node_modules/.bin:${process.env['PATH'] ?? ''}` };

/** A repository that holds nothing but proto/ and what checks it. */
class Repository {
  readonly #folder: string;

  constructor(t: ExecutionContext) {
    this.#folder = temporaryFolder(t);
    for (const path of ['proto', 'buf.yaml', 'scripts/breaking'])
      cpSync(join(root, path), join(this.#folder, path), { recursive: true });
    this.breaking('--keep');
  }

  edit(from: string, to: string): void {
    const path = join(this.#folder, broker);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${broker} does not say "${from}"`);
    writeFileSync(path, text.replace(from, to));
  }

  git(...args: readonly string[]): void {
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      cwd: this.#folder,
      stdio: 'ignore',
    });
  }

  /** What the script says, and undefined when all is well. */
  breaking(...args: readonly string[]): string | undefined {
    const { status, stdout, stderr } = spawnSync('scripts/breaking', args, {
      cwd: this.#folder,
      env,
      encoding: 'utf8',
    });
    return status === 0 ? undefined : stdout + stderr;
  }
}

for (const [what, from, to, said] of [
  [
    'a field that is gone',
    '  string client_job_id = 2;',
    '',
    /field "2" with name "client_job_id" on message "SubmitJobRequest" was deleted/,
  ],
  ['a field with another number', 'bool truncated = 4;', 'bool truncated = 99;', /field "4" with name "truncated"/],
  [
    'a field of another type',
    'uint64 task_count = 2;',
    'string task_count = 2;',
    /Field "2" with name "task_count" .* changed type/,
  ],
  [
    'a call that is gone',
    '  rpc WaitJob(WaitJobRequest) returns (WaitJobResponse);',
    '',
    /RPC "WaitJob" on service "BrokerService" was deleted/,
  ],
] as const) {
  test(`${what} is refused`, (t) => {
    const repository = new Repository(t);
    t.is(repository.breaking(), undefined);
    repository.edit(from, to);
    t.regex(repository.breaking() ?? 'nothing', said);
  });
}

test('new fields may change before they are released, and must be kept from the release on, with and without its tag', (t) => {
  const repository = new Repository(t);
  repository.git('init');
  repository.edit('bool truncated = 4;', 'bool truncated = 4;\n  bool shortened = 99;');
  t.is(repository.breaking(), undefined);
  repository.edit('bool shortened = 99;', 'bool was_cut = 99;');
  t.is(repository.breaking(), undefined, 'it was never released');
  repository.git('add', '.');
  repository.git('commit', '-m', 'a release that keeps nothing');
  repository.git('tag', 'v1.0.0');
  t.regex(repository.breaking() ?? 'nothing', /proto\/released.binpb is older than v1.0.0/);
  repository.breaking('--keep');
  t.is(repository.breaking(), undefined);
  repository.edit('bool was_cut = 99;', '');
  t.regex(repository.breaking() ?? 'nothing', /"was_cut"/);
  repository.git('tag', '-d', 'v1.0.0');
  t.regex(repository.breaking() ?? 'nothing', /"was_cut"/);
  repository.breaking('--keep');
  t.is(repository.breaking(), undefined);
  repository.git('tag', 'v1.0.0');
  t.regex(repository.breaking() ?? 'nothing', /"was_cut"/, 'nobody gets around the tag by keeping again');
});
