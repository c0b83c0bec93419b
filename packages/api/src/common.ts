export {
  Content,
  Hello,
  InputFile,
  IntegerRange,
  Limits,
  OutputFile,
  QuotaUse,
  Reason,
  ReasonValue,
  Root,
  Slot,
  TaskTemplate,
} from './generated/mutirao/common/v1/common.ts';
