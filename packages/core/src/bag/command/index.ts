export { CommandFault } from './atoms.ts';
export { fillNamed, findCommandFault, parseCommand, renderCommand, type CommandTemplate } from './command-template.ts';
