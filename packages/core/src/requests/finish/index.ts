export { finishConstants, type FinishConstants } from './constants.ts';
export { finishHeuristic, finishWith } from './finish.ts';
