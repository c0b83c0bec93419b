export { combineSources, type ArgumentSource, type CombineOptions } from './combine-sources.ts';
export { isHalted, parseHalt, type EndedJobs, type HaltRule } from './halt.ts';
export { jobLogHeader, printJobLogEntry, readJobLog, type JobLogEntry } from './joblog.ts';
export { hasReplacement, makeJobGroups, type JobGroup, type ParallelCommand, type ParallelJob } from './make-jobs.ts';
export { fillReplacement, readReplacements, type ReplacedText, type Replacement } from './replacements.ts';
export { readParallelWords, type InputSource, type ParallelWords } from './read-words.ts';
