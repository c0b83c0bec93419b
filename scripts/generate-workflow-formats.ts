/** Writes docs/reference/workflow-formats.md from the lists that the readers of workflow files go by. */
import { writeFileSync } from 'node:fs';
import { workflowFormatsMarkdown } from './workflow-formats-rendering.ts';

writeFileSync(new URL('../docs/reference/workflow-formats.md', import.meta.url), workflowFormatsMarkdown());
