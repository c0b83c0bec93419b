import { defineRun } from './run-process.ts';

export const define = defineRun('web');
