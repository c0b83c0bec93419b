export { chooseTaken, type Choice, type FormerResults, type TaskToRun } from './choose-taken.ts';
export { findOverwrite, type Overwrite } from './find-overwrite.ts';
export {
  fingerprintsIn,
  reviseInputs,
  withRevisedInputs,
  type CurrentInput,
  type RevisedInput,
} from './revised-inputs.ts';
export { matchTasks, type TaskMatch } from './match-tasks.ts';
