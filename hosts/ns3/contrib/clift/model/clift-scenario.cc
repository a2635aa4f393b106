/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clift-scenario.h"

#include "clift.h"

#include <map>
#include <sstream>

namespace ns3
{

namespace
{

/**
 * \return the scenarios that devices have open; they take themselves out.
 */
std::map<std::string, CliftScenario*>&
OpenScenarios()
{
    // Never freed: the last device may go after everything else.
    static auto& open = *new std::map<std::string, CliftScenario*>;
    return open;
}

/**
 * \param error a text of the library's, or null
 * \return the same; the library's is freed
 */
std::string
Take(char* error)
{
    std::string text = error ? error : "no reason was given";
    clift_string_free(error);
    return text;
}

/**
 * \param text any
 * \return it without the blanks around it
 */
std::string
Trim(const std::string& text)
{
    const auto first = text.find_first_not_of(" \t\n");
    const auto last = text.find_last_not_of(" \t\n");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

} // namespace

CliftScenario::CliftScenario(std::string key, clift_scenario* scenario)
    : m_key(key),
      m_scenario(scenario)
{
    OpenScenarios()[m_key] = this;
}

CliftScenario::~CliftScenario()
{
    OpenScenarios().erase(m_key);
    clift_scenario_free(m_scenario);
}

Ptr<CliftScenario>
CliftScenario::Open(const std::string& file, const std::string& changes, std::string& error)
{
    if (clift_abi() != CLIFT_ABI)
    {
        error = "the module was built for version " + std::to_string(CLIFT_ABI) +
                " of CLIFT's C interface, the library has version " + std::to_string(clift_abi()) +
                "; build the module anew";
        return nullptr;
    }
    if (file.empty())
    {
        error = "no scenario was given; set the attribute Scenario of the ns3::CliftNetDevice";
        return nullptr;
    }
    const std::string key = file + '\0' + changes;
    if (const auto open = OpenScenarios().find(key); open != OpenScenarios().end())
    {
        return open->second;
    }
    char* fault = nullptr;
    clift_scenario* scenario = clift_scenario_open(file.c_str(), &fault);
    if (!scenario)
    {
        error = Take(fault);
        return nullptr;
    }
    // From here on it is freed on every way out.
    Ptr<CliftScenario> made = Ptr<CliftScenario>(new CliftScenario(key, scenario), false);
    std::istringstream parts(changes);
    for (std::string part; std::getline(parts, part, ';');)
    {
        part = Trim(part);
        const auto equals = part.find('=');
        if (part.empty())
        {
            continue;
        }
        if (equals == std::string::npos)
        {
            error = "change \"" + part + "\": give key=value";
            return nullptr;
        }
        const std::string name = Trim(part.substr(0, equals));
        const std::string value = Trim(part.substr(equals + 1));
        if (clift_scenario_set(scenario, name.c_str(), value.c_str(), &fault) != 0)
        {
            error = Take(fault);
            return nullptr;
        }
    }
    return made;
}

clift_link*
CliftScenario::MakeLink(uint32_t direction, int64_t hop, uint64_t seed, std::string& error) const
{
    char* fault = nullptr;
    const uint64_t* own = seed == FILE_SEED ? nullptr : &seed;
    clift_link* link = nullptr;
    if (hop > UINT32_MAX || hop < WHOLE_WAY)
    {
        error = "hop " + std::to_string(hop) + ": give -1 for the whole way, or a hop from 0";
        return nullptr;
    }
    if (hop == WHOLE_WAY)
    {
        link = clift_scenario_way(m_scenario, own, direction, &fault);
    }
    else
    {
        link = clift_scenario_link(m_scenario, own, direction, static_cast<uint32_t>(hop), &fault);
    }
    if (!link)
    {
        error = Take(fault);
    }
    return link;
}

} // namespace ns3
