export type { Capture } from './capture.ts';
export type { ProcessExit } from './exit.ts';
export { hideVariable } from './hide-variable.ts';
export { leaveFirst } from './leave-first.ts';
export { killGroup, killProcess } from './kill-group.ts';
export { runCommand, type CommandResult, type RunCommandOptions } from './run-command.ts';
export { startProcess, type OutputTarget, type StartedProcess, type StartProcessOptions } from './start-process.ts';
export { startPiped, type PipedProcess, type StartPipedOptions } from './start-piped.ts';
export { isPacked, ownCommandLine, ownProgram, removalProgram, type ProcessName } from './own-program.ts';
export { raiseSoftLimits } from './soft-limits.ts';
export { requireLimits } from './require-limits.ts';
export { Watchdog, type WatchedAccount } from './watchdog.ts';
export { Launchers, type LaunchersOptions, type TaskEnd, type TaskUsage } from './launchers.ts';
export type { LaunchTask, TaskOutput, TaskTail } from './launcher.ts';
export type { StreamPart, StreamTail } from './kept-stream.ts';
export { parsePeak, parseRollup, proportionalBytes, readPeak } from './proportional-memory.ts';
export { isOnPath, isProgram } from './search-path.ts';
export { makeFifos } from './make-fifos.ts';
export { FifoLines } from './fifo-lines.ts';
export { isVariableName, ProgramFinder, quoteWord, renderAssignments, renderCommand } from './shell-words.ts';
export {
  describeSandbox,
  firstWords,
  sandboxLine,
  sandboxVariable,
  sandboxWords,
  trySandbox,
  type Sandbox,
  type SandboxFolders,
  type SandboxOptions,
} from './bubblewrap.ts';
export { TaskAccount } from './task-account.ts';
export {
  findGroupFolder,
  findScopes,
  killScope,
  listScope,
  makeScope,
  type ScopeOptions,
  type TaskScope,
  type TaskScopes,
} from './task-scopes.ts';
