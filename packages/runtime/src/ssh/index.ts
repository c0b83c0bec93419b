export { carryProgram } from './carry-program.ts';
export { findProgramFile, type ProgramFile } from './program-file.ts';
export { remoteCommand } from './remote-command.ts';
export { lastWords, quoteLastWords } from './ssh-errors.ts';
export { SshConnection, type OpenSshOptions, type RemoteResult, type RemoteRunOptions } from './ssh-connection.ts';
