import { readFileSync } from 'node:fs';
import test from 'ava';
import { workflowFormatsMarkdown } from '../../../../../scripts/workflow-formats-rendering.ts';
import { daxParts, jobXmlParts, profileParts, wfParts } from '../../../src/workflow/index.ts';

test('docs/reference/workflow-formats.md is what the readers go by', (t) => {
  t.is(
    readFileSync(new URL('../../../../../docs/reference/workflow-formats.md', import.meta.url), 'utf8'),
    workflowFormatsMarkdown(),
    'run scripts/generate',
  );
});

test('no part of a format is listed twice', (t) => {
  for (const parts of [daxParts, profileParts, wfParts, jobXmlParts]) {
    const paths = parts.flatMap((part) => part.paths);
    t.deepEqual(
      paths.filter((path, index) => paths.indexOf(path) !== index),
      [],
    );
  }
});
