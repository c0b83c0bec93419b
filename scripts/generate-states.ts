/** Writes the state diagrams of ARCHITECTURE.md from the state types of the sources. */
import { readFileSync, writeFileSync } from 'node:fs';
import { architectureMarkdown } from './states-rendering.ts';

const page = new URL('../ARCHITECTURE.md', import.meta.url);
writeFileSync(page, architectureMarkdown(readFileSync(page, 'utf8')));
