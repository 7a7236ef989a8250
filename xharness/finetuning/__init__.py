"""Fine-tuning: training on the English split, the checkpoint chosen on the English dev split."""
