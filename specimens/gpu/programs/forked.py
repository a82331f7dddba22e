"""Its data set's workers are forked from a process that has used CUDA, and use CUDA themselves."""

import torch
from torch.utils.data import DataLoader, Dataset

weights = torch.ones(8, device="cuda")


class Rows(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.full((8,), float(index)) @ weights.cpu() + weights.sum().cpu()


for batch in DataLoader(Rows(), batch_size=4, num_workers=2):
    print(batch.sum().item())
