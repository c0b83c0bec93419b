/**
 * Fuzzes what reads bytes from outside: messages of every stream, and files. Inputs that reach new code are kept, and
 * changed further.
 *
 * Usage: node scripts/fuzz.ts [--minutes N] [--seed N] [--target NAME] [--input FILE] [--keep]
 * Without a target all have their turn, for equal shares of the time. A finding is written to .cache/fuzz, and is run
 * alone by --target NAME --input FILE.
 * With --keep, inputs that reached new code go into test/corpora/NAME.txt, the smallest first, 20 at most. Prints "N
 * passed, N failed" last: a target each.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MutiraoError } from '@mutirao/api/errors';
import { Coverage } from './fuzzing/coverage.ts';
import { mutate } from './fuzzing/mutate.ts';
import { Prng } from './fuzzing/prng.ts';
import { NoMessage, targets, type Target } from './fuzzing/targets.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '120' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string' },
    input: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
/** Inputs between two looks at what was reached. */
const batchSize = 250;
/** An input may take so long: a peer that sends such ones would stop a process. */
const slowMs = 2000;
const corpusMax = 2000;
const [keptMax, keptBytesMax] = [20, 2048];

/** What is wrong with an input; undefined for one that was read, or refused as it should be. */
function findFault({ run }: Target, bytes: Buffer): string | undefined {
  // Processor time: how long it takes on a loaded host says nothing about the input.
  const begin = process.cpuUsage();
  try {
    run(bytes);
  } catch (error) {
    if (!isRefusal(error)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const took = process.cpuUsage(begin).user / 1000;
  return took > slowMs ? 'took more than 2 s of processor time' : undefined;
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof NoMessage ||
    (error instanceof MutiraoError && error.code !== 'MUT_INTERNAL') ||
    (error instanceof Error && error.name === 'FormatError')
  );
}

function listCorpus(name: string, { seeds }: Target): Buffer[] {
  return [...seeds, ...readKept(name)];
}

function getKeptFile(name: string): string {
  return join(root, 'test/corpora', `${name}.txt`);
}

/** Inputs that were kept of a target: a line of base64 each, behind a comment. */
function readKept(name: string): Buffer[] {
  const file = getKeptFile(name);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => Buffer.from(line, 'base64'));
}

function nameOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/** Writes a finding to a file. */
function report(name: string, bytes: Buffer, fault: string): void {
  mkdirSync(join(root, '.cache/fuzz'), { recursive: true });
  const file = `.cache/fuzz/${name}-${nameOf(bytes)}`;
  writeFileSync(join(root, file), bytes);
  console.log(`FAIL ${name}: ${fault}\n  again: node scripts/fuzz.ts --target ${name} --input ${file}`);
}

function keep(name: string, corpus: readonly Buffer[]): void {
  const kept = readKept(name);
  const small = corpus
    .filter(({ length }) => length > 0 && length <= keptBytesMax)
    .sort((one, other) => one.length - other.length)
    .slice(0, Math.max(0, keptMax - kept.length));
  const lines = [...kept, ...small].map((bytes) => bytes.toString('base64'));
  writeFileSync(
    getKeptFile(name),
    `# Inputs that reached new code, one per line, in base64.\n${[...new Set(lines)].join('\n')}\n`,
  );
}

/** Those inputs of a batch that reach some parts, by running halves of it again. */
async function findReaching(
  target: Target,
  batch: readonly Buffer[],
  looked: { readonly parts: ReadonlySet<string>; readonly coverage: Coverage },
): Promise<Buffer[]> {
  for (const bytes of batch) findFault(target, bytes);
  if (!(await looked.coverage.hasRun(looked.parts))) return [];
  if (batch.length === 1) return [...batch];
  const middle = batch.length >> 1;
  const first = await findReaching(target, batch.slice(0, middle), looked);
  // One for each batch is enough, mostly; the other half is looked at where this one has none.
  return first.length > 0 ? first : findReaching(target, batch.slice(middle), looked);
}

/** Fuzzes one target for so long. Returns whether nothing was found. */
async function fuzz(
  name: string,
  target: Target,
  { ms, coverage }: { readonly ms: number; readonly coverage: Coverage },
): Promise<boolean> {
  const random = new Prng(
    Number(values.seed) * 7919 + [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7),
  );
  const corpus = listCorpus(name, target);
  const fresh: Buffer[] = [];
  const faults = new Map<string, Buffer>();
  const note = (bytes: Buffer): void => {
    const fault = findFault(target, bytes);
    // The same fault by another input is the same finding.
    if (fault !== undefined && !faults.has(fault.split('\n', 3).join())) {
      faults.set(fault.split('\n', 3).join(), bytes);
      report(name, bytes, fault);
    }
  };
  corpus.forEach(note);
  await coverage.takeNew();
  const [begin, reached] = [performance.now(), coverage.size];
  let count = 0;
  while (performance.now() - begin < ms && faults.size < 10) {
    const batch = Array.from({ length: batchSize }, () => mutate(random, corpus));
    batch.forEach(note);
    count += batch.length;
    const parts = await coverage.takeNew();
    if (parts.size === 0) continue;
    const reaching = await findReaching(target, batch, { parts, coverage });
    fresh.push(...reaching);
    corpus.push(...reaching);
    if (corpus.length > corpusMax) corpus.splice(target.seeds.length, corpus.length - corpusMax);
  }
  if (values.keep) keep(name, fresh);
  console.log(
    `${name}: ${count} inputs, ${corpus.length} in the corpus, ${coverage.size - reached} more parts of the ` +
      `sources reached, ${faults.size} findings`,
  );
  return faults.size === 0;
}

const chosen = Object.entries(targets).filter(([name]) => values.target === undefined || name === values.target);
if (chosen.length === 0)
  throw new Error(`there is no target ${values.target ?? ''}; there are ${Object.keys(targets).join(', ')}`);
if (values.input !== undefined) {
  const [name, target] = chosen[0] ?? ['', { seeds: [], run: () => undefined }];
  const fault = findFault(target, readFileSync(values.input));
  console.log(fault ?? `${name} reads it or refuses it`);
  process.exit(fault === undefined ? 0 : 1);
}
console.log(`seed ${values.seed}`);
const coverage = new Coverage();
await coverage.start();
let [passed, failed] = [0, 0];
for (const [name, target] of chosen) {
  if (await fuzz(name, target, { ms: (Number(values.minutes) * 60_000) / chosen.length, coverage })) passed += 1;
  else failed += 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
