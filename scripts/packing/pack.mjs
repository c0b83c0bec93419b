// Packs Node, the command line, all processes and what they read from npm packages into one executable, and the same gzipped.
// Usage: node scripts/packing/pack.mjs [FOLDER]; prints what it made as one line of JSON.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, createReadStream, createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';
import { build } from 'esbuild';
import { inject } from 'postject';

const root = fileURLToPath(new URL('../../', import.meta.url));
const target = process.argv[2] ?? join(root, 'dist');
const node = join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin', 'node');

/** Where the files that are held in memory seem to be. */
const held = '/mutirao-held';

/** Files that the programs read at run time, by the path at which they seem to be. */
function filesToHold() {
  const files = {};
  const add = (folder, place) => {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (name.endsWith('.proto')) files[`${held}/${place}/${name}`] = readFileSync(join(folder, name), 'utf8');
    }
  };
  add(join(root, 'proto'), 'proto');
  for (const place of ['node_modules/grpc-health-check/proto', 'node_modules/@grpc/reflection/build/proto']) add(join(root, place), place);
  return files;
}

/** Node's own `fs` for the packages that look for .proto files, with the held files in it. */
function fileSystem(files) {
  return `const fs = require('node:fs');
const held = ${JSON.stringify(files)};
const has = (path) => Object.hasOwn(held, path);
module.exports = {
  ...fs,
  accessSync: (path, mode) => { if (!has(path)) fs.accessSync(path, mode); },
  existsSync: (path) => has(path) || fs.existsSync(path),
  readFileSync: (path, options) => has(path) ? (typeof options === 'string' || options?.encoding ? held[path] : Buffer.from(held[path])) : fs.readFileSync(path, options),
};`;
}

function packing(files) {
  const protos = Object.keys(files).filter((path) => path.startsWith(`${held}/proto/mutirao/`)).map((path) => path.slice(`${held}/proto/`.length)).sort();
  return {
    name: 'packing',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^(?:node:)?fs$/ }, ({ importer }) => (/node_modules\/(?:@grpc\/proto-loader|protobufjs)\//.test(importer) ? { path: 'fs', namespace: 'held' } : undefined));
      onLoad({ filter: /.*/, namespace: 'held' }, () => ({ contents: fileSystem(files), loader: 'js' }));
      onLoad({ filter: /packages\/api\/src\/descriptors\.ts$/ }, () => ({
        contents: `export const protoFolder = ${JSON.stringify(`${held}/proto`)};\nexport function protoFiles() { return ${JSON.stringify(protos)}; }`, loader: 'js',
      }));
      onLoad({ filter: /node_modules\/(?:grpc-health-check|@grpc\/reflection)\/build\/.*\.js$/ }, ({ path }) => ({
        contents: readFileSync(path, 'utf8').replaceAll('__dirname', JSON.stringify(join(held, relative(root, dirname(path))))), loader: 'js',
      }));
    },
  };
}

async function bundle(entry, outfile, files) {
  await build({
    entryPoints: [join(root, entry)], outfile, bundle: true, platform: 'node', target: 'node24', format: 'cjs', minifySyntax: true, minifyWhitespace: true, keepNames: false,
    define: { 'import.meta.main': 'false', 'import.meta.url': '"file:///mutirao-held/source.js"' }, plugins: [packing(files)], logLevel: 'warning', legalComments: 'none',
  });
}

async function hashOf(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

const work = mkdtempSync(join(tmpdir(), 'mutirao-pack-'));
try {
  const files = filesToHold();
  const workers = { 'swarm-worker': 'packages/cli/src/simulation/swarm/swarm-worker.ts', 'study-worker': 'packages/cli/src/simulation/study/study-worker.ts' };
  await bundle('scripts/packing/entry.ts', join(work, 'mutirao.cjs'), files);
  for (const [name, entry] of Object.entries(workers)) await bundle(entry, join(work, `${name}.cjs`), files);
  writeFileSync(join(work, 'sea.json'), JSON.stringify({
    main: join(work, 'mutirao.cjs'), output: join(work, 'mutirao.blob'), disableExperimentalSEAWarning: true, useCodeCache: true,
    execArgv: ['--disable-warning=ExperimentalWarning'], execArgvExtension: 'none',
    assets: Object.fromEntries(Object.keys(workers).map((name) => [name, join(work, `${name}.cjs`)])),
  }));
  execFileSync(node, ['--experimental-sea-config', join(work, 'sea.json')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const draft = join(work, 'mutirao');
  copyFileSync(node, draft);
  chmodSync(draft, 0o755);
  await inject(draft, 'NODE_SEA_BLOB', readFileSync(join(work, 'mutirao.blob')), { sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2' });
  await pipeline(createReadStream(draft), createGzip({ level: 6 }), createWriteStream(`${draft}.gz`));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const made = { version, sha256: await hashOf(draft), bytes: statSync(draft).size, packed_bytes: statSync(`${draft}.gz`).size, bundle_bytes: statSync(join(work, 'mutirao.cjs')).size };
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
