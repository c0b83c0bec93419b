import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import test from 'ava';

import type { JobSpec, OutputContent, OutputSpec } from '@mutirao/core/messages';
import { aGroup, aJob, temporaryFolder } from '@mutirao/testkit';

import type { ReplicaRecord } from '../../../src/journal/records.ts';
import { FileHashes } from '../../../src/staging/file-hashes.ts';
import { HomeFiles } from '../../../src/staging/home-files.ts';
import { TaskOutputs } from '../../../src/staging/task-outputs.ts';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const source = { kind: 'output', taskIndex: 0, path: 'a' } as const;

function findSpec(localPath: string): JobSpec {
  const output = (path: string, place: string): OutputSpec => ({
    root: 'playpen',
    path,
    localPath: place,
    condition: '',
  });
  return aJob(1, {
    groups: [aGroup(1, { outputs: [output('other', ''), output('a', localPath)] }), aGroup(1)],
    edges: [{ from: 0, to: 1 }],
  });
}

function written(text: string, outputIndex: number): OutputContent {
  return {
    outputIndex,
    path: '',
    content: { sha256: digest(text), size: text.length },
    mode: 0o640,
    inline: undefined,
    transferId: '',
  };
}

function listOutputs(
  endings: readonly {
    readonly disposition: ReplicaRecord['disposition'];
    readonly outputs: readonly OutputContent[];
  }[],
  blobs: readonly string[] = [],
): TaskOutputs {
  const homeFiles = new HomeFiles(
    new FileHashes({
      hashFile: (path) => {
        const text = readFileSync(path, 'utf8');
        return Promise.resolve({ sha256: digest(text), size: text.length });
      },
    }),
  );
  const records = { endingsOf: () => new Map([[0, endings as readonly ReplicaRecord[] as ReplicaRecord[]]]) };
  return new TaskOutputs({ records, homeFiles, hasBlob: (_userId, sha256) => blobs.includes(sha256) });
}

const job = (localPath: string) => ({ jobId: 1, userId: 'ana', spec: findSpec(localPath) });

test('the reader of an output gets that output of the result that was taken, the later one where there are two', async (t) => {
  const outputs = listOutputs(
    [
      { disposition: 'accepted', outputs: [written('doubted', 1)] },
      { disposition: 'failed', outputs: [] },
      { disposition: 'accepted', outputs: [written('other', 0), written('good', 1)] },
      { disposition: 'surplus', outputs: [written('late', 1)] },
    ],
    [digest('good')],
  );
  t.deepEqual(await outputs.getFiles(job(''), source), [
    { below: '', content: { sha256: digest('good'), size: 4 }, mode: 0o640 },
  ]);
});

test('an output that was never written, or that is not a blob any more, is reported as such', async (t) => {
  await t.throwsAsync(
    listOutputs([{ disposition: 'accepted', outputs: [written('good', 1)] }]).getFiles(job(''), source),
    {
      code: 'MUT_CONTENT_NOT_FOUND',
      message: /is not here any more/,
    },
  );
  await t.throwsAsync(
    listOutputs([{ disposition: 'accepted', outputs: [written('other', 0)] }]).getFiles(job(''), source),
    {
      code: 'MUT_CONTENT_NOT_FOUND',
      message: /has written no a/,
    },
  );
});

test('an output at a place of the user is read from there, unless she has changed it', async (t) => {
  const place = join(temporaryFolder(t), 'a');
  const outputs = listOutputs([{ disposition: 'accepted', outputs: [written('good', 1)] }]);
  writeFileSync(place, 'good');
  t.like(await outputs.getFiles(job(place), source), [{ content: { sha256: digest('good') } }]);
  writeFileSync(place, 'other text');
  await t.throwsAsync(outputs.getFiles(job(place), source), {
    code: 'MUT_INPUT_CHANGED',
    message: /is not what was written there/,
  });
});
