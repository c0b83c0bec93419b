// Packs Node, the command line, all processes and what they read from npm packages into one executable, and the same
// gzipped.
// Usage: node scripts/packing/pack.mjs [FOLDER]; prints what it made as one line of JSON.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';
import { inject } from 'postject';
import { bundleToPack } from './bundle.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const target = process.argv[2] ?? join(root, 'dist');
const node = join(
  dirname(createRequire(import.meta.url).resolve(`node-linux-${process.arch}/package.json`)),
  'bin',
  'node',
);

async function getHash(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** The built page: contents in base64 by their paths, as the gateway reads them out of the executable. */
function pageFiles() {
  const folder = join(root, 'packages/web/dist');
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name)).toString('base64')]));
}

const work = mkdtempSync(join(tmpdir(), 'mutirao-pack-'));
try {
  const workers = {
    'swarm-worker': 'packages/cli/src/simulation/swarm/swarm-worker.ts',
    'study-worker': 'packages/cli/src/simulation/study/study-worker.ts',
  };
  await bundleToPack('scripts/packing/entry.ts', join(work, 'mutirao.cjs'));
  for (const [name, entry] of Object.entries(workers)) await bundleToPack(entry, join(work, `${name}.cjs`));
  writeFileSync(join(work, 'page.json'), JSON.stringify(pageFiles()));
  writeFileSync(
    join(work, 'sea.json'),
    JSON.stringify({
      main: join(work, 'mutirao.cjs'),
      output: join(work, 'mutirao.blob'),
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      execArgvExtension: 'none',
      assets: {
        ...Object.fromEntries(Object.keys(workers).map((name) => [name, join(work, `${name}.cjs`)])),
        page: join(work, 'page.json'),
      },
    }),
  );
  execFileSync(node, ['--experimental-sea-config', join(work, 'sea.json')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const draft = join(work, 'mutirao');
  copyFileSync(node, draft);
  chmodSync(draft, 0o755);
  await inject(draft, 'NODE_SEA_BLOB', readFileSync(join(work, 'mutirao.blob')), {
    sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
  });
  await pipeline(createReadStream(draft), createGzip({ level: 6 }), createWriteStream(`${draft}.gz`));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const made = {
    version,
    sha256: await getHash(draft),
    bytes: statSync(draft).size,
    packed_bytes: statSync(`${draft}.gz`).size,
    bundle_bytes: statSync(join(work, 'mutirao.cjs')).size,
  };
  writeFileSync(join(work, 'mutirao.json'), `${JSON.stringify(made)}\n`);
  mkdirSync(target, { recursive: true });
  for (const name of ['mutirao.gz', 'mutirao', 'mutirao.json']) {
    copyFileSync(join(work, name), join(target, `${name}.${process.pid}.tmp`));
    renameSync(join(target, `${name}.${process.pid}.tmp`), join(target, name));
  }
  console.log(JSON.stringify(made));
} finally {
  rmSync(work, { recursive: true, force: true });
}
