// Builds the page into packages/web/dist: one module that is loaded first, and chunks that are loaded when a view needs
// them.
import {
  copyFileSync,
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
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const web = dirname(here);
const place = join(web, 'dist');

/** The instant of the newest source of a folder, in milliseconds. */
function newestOf(folder) {
  let newest = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    newest = Math.max(newest, statSync(join(folder, name)).mtimeMs);
  return newest;
}

/** Whether what was built is newer than all that it is made of. */
export function isBuilt() {
  if (!existsSync(join(place, 'index.html'))) return false;
  const packages = dirname(web);
  const sources = [
    here,
    join(packages, 'core/src/workflow'),
    join(packages, 'core/src/shared'),
    join(packages, 'formats/src'),
  ];
  return statSync(join(place, 'index.html')).mtimeMs > Math.max(...sources.map(newestOf));
}

/** Puts a compressed copy next to each file of a folder that shrinks by it: slow once, and small for every reader. */
function compress(folder) {
  for (const name of readdirSync(folder).filter((one) => /\.(?:js|css|html|svg)$/.test(one))) {
    const bytes = readFileSync(join(folder, name));
    const small = brotliCompressSync(bytes);
    if (small.length < bytes.length * 0.9) writeFileSync(join(folder, `${name}.br`), small);
  }
}

/** Builds the page. It changes as a whole: a gateway that starts meanwhile finds the old one or the new one. */
export async function buildPage() {
  const draft = mkdtempSync(join(web, 'dist-'));
  try {
    await build({
      absWorkingDir: here,
      entryPoints: { main: 'src/main.tsx', 'workflow-worker': 'src/views/editor/workflow-worker.ts' },
      outdir: join(draft, 'assets'),
      entryNames: '[name]',
      chunkNames: '[name]-[hash]',
      assetNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      minify: true,
      legalComments: 'linked',
      jsx: 'automatic',
      define: { 'process.env.NODE_ENV': '"production"' },
      logLevel: 'warning',
    });
    await build({
      absWorkingDir: here,
      entryPoints: { report: 'src/report/report-main.ts' },
      outdir: join(draft, 'report'),
      entryNames: '[name]',
      bundle: true,
      format: 'iife',
      platform: 'browser',
      target: 'es2022',
      minify: true,
      // The words of a licence have to travel with what they are about.
      legalComments: 'inline',
      charset: 'ascii',
      define: { 'process.env.NODE_ENV': '"production"' },
      logLevel: 'warning',
    });
    for (const name of ['index.html', 'icon.svg']) copyFileSync(join(here, name), join(draft, name));
    for (const folder of ['assets', '.']) compress(join(draft, folder));
    if (existsSync(place)) renameSync(place, join(draft, 'old'));
    mkdirSync(dirname(place), { recursive: true });
    renameSync(draft, place);
    rmSync(join(place, 'old'), { recursive: true, force: true });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

if (import.meta.main && (process.argv.includes('--always') || !isBuilt())) await buildPage();
