export { chooseTaken, type Choice, type FormerResults, type TaskToRun } from './choose-taken.ts';
export { matchTasks, type TaskMatch } from './match-tasks.ts';
