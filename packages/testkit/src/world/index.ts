export { folderForAll, giveTo, mayChangeAccount, nameless, nobody, programsForAll, type Account } from './accounts.ts';
export { TaskAccounts } from './task-accounts.ts';
export { worldCases } from './cases.ts';
export { World, type WorldPlace } from './world.ts';
export { perl, type CaseInput, type ExpectedEnd, type WorldCase } from './world-case.ts';
