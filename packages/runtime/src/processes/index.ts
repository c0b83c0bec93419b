export type { Capture } from './capture.ts';
export type { ProcessExit } from './exit.ts';
export { killGroup, killProcess } from './kill-group.ts';
export { runCommand, type CommandResult, type RunCommandOptions } from './run-command.ts';
export { startProcess, type OutputTarget, type StartedProcess, type StartProcessOptions } from './start-process.ts';
export { Watchdog } from './watchdog.ts';
export { Launchers, type LaunchersOptions, type TaskUsage } from './launchers.ts';
export type { LaunchTask, TaskOutput } from './launcher.ts';
export { isVariableName, ProgramFinder, quoteWord, renderAssignments, renderCommand } from './shell-words.ts';
