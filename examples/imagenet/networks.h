// The networks of the ImageNet examples by name.
#pragma once

#include <string>
#include <vector>

#include "alex.h"
#include "googlenet.h"
#include "googlenetbn.h"
#include "nin.h"
#include "resnet50.h"

inline const std::vector<std::string> architectures{
    "nin", "alex", "alex_fp16", "googlenet", "googlenetbn", "googlenetbn_fp16", "resnet50"};

// Calls train(network) with a new network of that name.
template <class Train> void with_network(const std::string& architecture, const Train& train) {
  if (architecture == "alex") train(Alex());
  else if (architecture == "alex_fp16") train(AlexFp16());
  else if (architecture == "googlenet") train(GoogLeNet());
  else if (architecture == "googlenetbn") train(GoogLeNetBN());
  else if (architecture == "googlenetbn_fp16") train(GoogLeNetBNFp16());
  else if (architecture == "resnet50") train(ResNet50());
  else train(NIN());
}
