import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A file of the page, held in memory. */
export interface StaticFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Buffer;
  /** As the build made it; undefined where there is none. */
  readonly brotli: Buffer | undefined;
  /** Undefined where it would be no smaller. */
  readonly gzipped: Buffer | undefined;
}

/** The files of the page by their path, `index.html` among them. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

/** Reads the built page from a folder; without files where it has not been built. */
export function readStaticFolder(folder: string): StaticFiles {
  let names: string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return new Map();
  }
  const kept = names.filter((name) => types[extname(name.replace(/\.br$/, ''))] !== undefined);
  return makeStaticFiles(new Map(kept.map((name) => [name.replaceAll('\\', '/'), readFileSync(join(folder, name))])));
}

/** Reads the built page again whenever another one was built; what was read is kept while a build replaces it. */
export function followStaticFolder(folder: string): () => StaticFiles {
  let [builtAt, files] = [-1, readStaticFolder(folder)];
  return () => {
    const at = statSync(join(folder, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? builtAt;
    if (at !== builtAt) [builtAt, files] = [at, readStaticFolder(folder)];
    return files;
  };
}

/** The files of the page from their contents, by paths without a slash in front. */
export function makeStaticFiles(contents: ReadonlyMap<string, Buffer>): StaticFiles {
  const own = [...contents].filter(([name]) => !name.endsWith('.br'));
  return new Map(own.map(([name, bytes]) => [`/${name}`, staticFile(name, bytes, contents.get(`${name}.br`))]));
}

function staticFile(name: string, bytes: Buffer, brotli: Buffer | undefined): StaticFile {
  const gzipped = gzipSync(bytes, { level: 9 });
  return {
    type: types[extname(name)] ?? 'application/octet-stream',
    bytes,
    brotli,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    gzipped: gzipped.length < bytes.length * 0.9 ? gzipped : undefined,
  };
}

/** The file for a path of the page; a path without a dot is a view of the one page. Undefined where there is none. */
export function findStaticFile(files: StaticFiles, path: string): StaticFile | undefined {
  return files.get(path) ?? (path.includes('.') ? undefined : files.get('/index.html'));
}
