// Makes one module of a Mutirao program: its sources, what it uses of npm packages, and the files that those read at
// run time.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

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
  const place = 'node_modules/grpc-health-check/proto';
  add(join(root, place), place);
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
  return {
    name: 'packing',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^(?:node:)?fs$/ }, ({ importer }) =>
        /node_modules\/(?:@grpc\/proto-loader|protobufjs)\//.test(importer)
          ? { path: 'fs', namespace: 'held' }
          : undefined,
      );
      onLoad({ filter: /.*/, namespace: 'held' }, () => ({ contents: fileSystem(files), loader: 'js' }));
      onLoad({ filter: /node_modules\/grpc-health-check\/build\/.*\.js$/ }, ({ path }) => ({
        contents: readFileSync(path, 'utf8').replaceAll(
          '__dirname',
          JSON.stringify(join(held, relative(root, dirname(path)))),
        ),
        loader: 'js',
      }));
    },
  };
}

const common = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  keepNames: false,
  logLevel: 'warning',
  legalComments: 'none',
};

/** Bundles a program for the executable, beside which there are no sources. */
export async function bundleToPack(entry, outfile) {
  await build({
    ...common,
    entryPoints: [join(root, entry)],
    outfile,
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [packing(filesToHold())],
    define: { 'import.meta.main': 'false', 'import.meta.url': `"file://${held}/source.js"` },
  });
}

/**
 * Bundles a program to be run in this very checkout, `depth` folders below its root: what it looks for beside its
 * sources it finds there.
 */
export async function bundleInPlace(entry, outfile, depth) {
  const up = '../'.repeat(depth);
  await build({
    ...common,
    entryPoints: [join(root, entry)],
    outfile,
    plugins: [packing(filesToHold()), sourceUrls()],
    define: { 'import.meta.main': 'false' },
    banner: {
      js: `const sourceUrl = (path) => new URL('${up}' + path, require('node:url').pathToFileURL(__filename)).href;`,
    },
  });
}

function sourceUrls() {
  return {
    name: 'source-urls',
    setup({ onLoad }) {
      onLoad({ filter: /packages\/[^/]+\/src\/.*\.ts$/ }, ({ path }) => ({
        contents: readFileSync(path, 'utf8').replaceAll(
          'import.meta.url',
          `sourceUrl(${JSON.stringify(relative(root, path))})`,
        ),
        loader: 'ts',
      }));
    },
  };
}
